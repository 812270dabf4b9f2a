-- From version 5 to 6: the schema names the oldest program that works with it. Rules: 2.sql.
-- oldest program: 6
ALTER TABLE schema_version ADD COLUMN oldest_program INT UNSIGNED NULL, ALGORITHM = INSTANT;
