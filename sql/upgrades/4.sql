-- From version 3 to 4: publishable keys, visitors' events, ads, articles. Rules: 2.sql.
CREATE TABLE publishable_keys (
    organization_id BINARY(16)     NOT NULL,
    id              BINARY(16)     NOT NULL,
    kind            ENUM('tracking', 'content') NOT NULL,
    name            VARCHAR(255)   NOT NULL,
    token           VARBINARY(64)  NOT NULL,
    allowed_origins TEXT           NOT NULL,
    rate_per_second INT            NULL,
    burst           INT            NULL,
    created_by      BINARY(16)     NULL,
    created_at      BIGINT         NOT NULL,
    last_used_at    BIGINT         NULL,
    expires_at      BIGINT         NULL,
    revoked_at      BIGINT         NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY token (token),
    KEY revoked_at (revoked_at),
    CONSTRAINT publishable_keys_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT publishable_keys_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE ad_slots (
    organization_id BINARY(16)   NOT NULL,
    id              BINARY(16)   NOT NULL,
    slug            VARCHAR(63)  NOT NULL,
    name            VARCHAR(255) NOT NULL,
    width           INT          NOT NULL,
    height          INT          NOT NULL,
    created_at      BIGINT       NOT NULL,
    updated_at      BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY slug (organization_id, slug),
    CONSTRAINT ad_slots_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE ad_campaigns (
    organization_id   BINARY(16)   NOT NULL,
    id                BINARY(16)   NOT NULL,
    name              VARCHAR(255) NOT NULL,
    status            ENUM('active', 'paused') NOT NULL,
    starts_at         BIGINT       NOT NULL,
    ends_at           BIGINT       NULL,
    weight            INT          NOT NULL,
    daily_impressions INT          NULL,
    frequency_cap     INT          NULL,
    targeting         TEXT         NOT NULL,
    created_at        BIGINT       NOT NULL,
    updated_at        BIGINT       NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT ad_campaigns_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE ad_campaign_slots (
    organization_id BINARY(16) NOT NULL,
    slot_id         BINARY(16) NOT NULL,
    campaign_id     BINARY(16) NOT NULL,
    PRIMARY KEY (organization_id, slot_id, campaign_id),
    KEY campaign (organization_id, campaign_id, slot_id),
    CONSTRAINT ad_campaign_slots_slot FOREIGN KEY (organization_id, slot_id)
        REFERENCES ad_slots (organization_id, id),
    CONSTRAINT ad_campaign_slots_campaign FOREIGN KEY (organization_id, campaign_id)
        REFERENCES ad_campaigns (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE ad_creatives (
    organization_id BINARY(16)    NOT NULL,
    id              BINARY(16)    NOT NULL,
    campaign_id     BINARY(16)    NOT NULL,
    kind            ENUM('image', 'html') NOT NULL,
    image_url       VARCHAR(2048) NULL,
    html            MEDIUMTEXT    NULL,
    alt             VARCHAR(255)  NULL,
    width           INT           NOT NULL,
    height          INT           NOT NULL,
    landing_url     VARCHAR(2048) NOT NULL,
    created_at      BIGINT        NOT NULL,
    updated_at      BIGINT        NOT NULL,
    PRIMARY KEY (organization_id, id),
    KEY campaign (organization_id, campaign_id, id),
    CONSTRAINT ad_creatives_campaign FOREIGN KEY (organization_id, campaign_id)
        REFERENCES ad_campaigns (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE ad_campaign_days (
    organization_id BINARY(16) NOT NULL,
    campaign_id     BINARY(16) NOT NULL,
    day             INT        NOT NULL,
    served          BIGINT     NOT NULL DEFAULT 0,
    impressions     BIGINT     NOT NULL DEFAULT 0,
    clicks          BIGINT     NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, campaign_id, day),
    CONSTRAINT ad_campaign_days_campaign FOREIGN KEY (organization_id, campaign_id)
        REFERENCES ad_campaigns (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE ad_member_days (
    organization_id BINARY(16) NOT NULL,
    campaign_id     BINARY(16) NOT NULL,
    member_id       BINARY(16) NOT NULL,
    day             INT        NOT NULL,
    shown           INT        NOT NULL,
    PRIMARY KEY (organization_id, campaign_id, member_id, day),
    KEY member (organization_id, member_id),
    KEY day (day),
    CONSTRAINT ad_member_days_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE ad_redemptions (
    organization_id BINARY(16) NOT NULL,
    serving_id      BINARY(16) NOT NULL,
    kind            ENUM('impression', 'click') NOT NULL,
    redeemed_at     BIGINT     NOT NULL,
    PRIMARY KEY (organization_id, serving_id, kind),
    KEY redeemed_at (redeemed_at),
    CONSTRAINT ad_redemptions_organization FOREIGN KEY (organization_id) REFERENCES organizations (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE articles (
    organization_id BINARY(16)    NOT NULL,
    id              BINARY(16)    NOT NULL,
    slug            VARCHAR(128)  NOT NULL,
    title           VARCHAR(255)  COLLATE utf8mb4_general_ci NOT NULL,
    excerpt         TEXT          NULL,
    body_html       MEDIUMTEXT    NOT NULL,
    locale          VARCHAR(35)   NULL,
    tags            TEXT          NOT NULL,
    author          VARCHAR(255)  NULL,
    cover_url       VARCHAR(2048) NULL,
    published_at    BIGINT        NULL,
    created_by      BINARY(16)    NULL,
    created_at      BIGINT        NOT NULL,
    updated_at      BIGINT        NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE KEY slug (organization_id, slug),
    KEY published (organization_id, published_at, id),
    KEY published_locale (organization_id, locale, published_at, id),
    KEY title (organization_id, title, id),
    CONSTRAINT articles_organization FOREIGN KEY (organization_id) REFERENCES organizations (id),
    CONSTRAINT articles_created_by FOREIGN KEY (created_by) REFERENCES admins (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE article_tags (
    organization_id BINARY(16)  NOT NULL,
    article_id      BINARY(16)  NOT NULL,
    tag             VARCHAR(64) NOT NULL,
    published_at    BIGINT      NULL,
    PRIMARY KEY (organization_id, article_id, tag),
    KEY tagged (organization_id, tag, published_at, article_id),
    CONSTRAINT article_tags_article FOREIGN KEY (organization_id, article_id)
        REFERENCES articles (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Placed at the end of the row, so that the table need not be copied.
ALTER TABLE engagement_events ADD COLUMN anonymous_id VARCHAR(128) NULL;
