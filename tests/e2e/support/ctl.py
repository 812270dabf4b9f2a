"""The exit statuses of musterctl (musterctl(8) "EXIT STATUS")."""

DONE, NOT_DONE, USAGE, MIGRATE, INIT = 0, 1, 2, 3, 4
# The id of no record.
NOWHERE = "01a1fd04-035b-72c3-8961-619ede6ecc85"
