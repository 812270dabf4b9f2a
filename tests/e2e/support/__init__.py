"""What the end-to-end tests stand on: the stack, the API's contract, a recording client, organizations."""
