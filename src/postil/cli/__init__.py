"""The command line: flags of each verb, and how a command ends."""
