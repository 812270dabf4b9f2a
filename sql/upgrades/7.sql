-- From version 6 to 7: what an import job reports about its current state. Rules: 2.sql.
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
