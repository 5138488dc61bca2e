"""Tests of other libraries with our methods in the place of theirs; the command is __main__."""
