-- From version 5 to 6: the schema says which programs may work with it. How to write one: 2.sql.
-- oldest program: 6
ALTER TABLE schema_version ADD COLUMN oldest_program INT UNSIGNED NULL, ALGORITHM = INSTANT;
