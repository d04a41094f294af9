"""Where people and programs come in: parse, call one handler, present."""
