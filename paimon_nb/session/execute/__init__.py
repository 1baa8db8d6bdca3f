"""One module for each family of statements: DDL, DML, SHOW, SET and administration."""
