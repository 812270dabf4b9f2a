"""The support code of the end-to-end tests: the stack, the API's contract, a recording client, organizations."""
