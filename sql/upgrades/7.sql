-- From version 6 to 7: what an import job reports about its current state; jobs that were undone. Rules: 2.sql.
-- oldest program: 6
-- Not columns of import_jobs: MariaDB cannot add a column online to a table with an index on a virtual column.
CREATE TABLE IF NOT EXISTS import_progress (
    organization_id  BINARY(16) NOT NULL,
    job_id           BINARY(16) NOT NULL,
    phase_started_at BIGINT     NOT NULL,
    row_errors       TEXT       NULL,
    PRIMARY KEY (organization_id, job_id),
    CONSTRAINT import_progress_job FOREIGN KEY (organization_id, job_id)
        REFERENCES import_jobs (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
-- Older programs are not shown the new states: a job is undone only by a call of a newer program.
ALTER TABLE import_jobs
    MODIFY COLUMN state ENUM('staging', 'validating', 'validated', 'committing', 'completed', 'failed',
                             'canceled', 'undoing', 'undone') NOT NULL,
    ALGORITHM = INSTANT;
ALTER TABLE import_jobs
    ADD COLUMN active_job TINYINT GENERATED ALWAYS AS
        (IF(state IN ('staging', 'validating', 'validated', 'committing', 'undoing'), 1, NULL)) VIRTUAL
        AFTER active_slot,
    ALGORITHM = INSTANT;
ALTER TABLE import_jobs
    ADD UNIQUE KEY active_job (organization_id, active_job),
    ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE import_blocks
    MODIFY COLUMN state ENUM('staged', 'checked', 'committed', 'undone') NOT NULL,
    ADD COLUMN removed_count SMALLINT NOT NULL DEFAULT 0 AFTER failed_count,
    ADD COLUMN detached_count SMALLINT NOT NULL DEFAULT 0 AFTER removed_count,
    ADD COLUMN emptied_count SMALLINT NOT NULL DEFAULT 0 AFTER detached_count,
    ADD COLUMN kept_count SMALLINT NOT NULL DEFAULT 0 AFTER emptied_count,
    ALGORITHM = INSTANT;
CREATE TABLE IF NOT EXISTS import_undos (
    organization_id  BINARY(16) NOT NULL,
    job_id           BINARY(16) NOT NULL,
    removed_count    INT        NOT NULL DEFAULT 0,
    detached_count   INT        NOT NULL DEFAULT 0,
    emptied_count    INT        NOT NULL DEFAULT 0,
    kept_count       INT        NOT NULL DEFAULT 0,
    unaffected_count INT        NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, job_id),
    CONSTRAINT import_undos_job FOREIGN KEY (organization_id, job_id)
        REFERENCES import_jobs (organization_id, id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
