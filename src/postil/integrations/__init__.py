"""Adapters to other frameworks: each makes postil's numbers available under the framework's own interface.

Every module can be imported without its framework; what needs the framework is defined where it is installed.
"""
