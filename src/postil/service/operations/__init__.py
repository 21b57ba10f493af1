"""The service without HTTP: requests in, responses out."""
