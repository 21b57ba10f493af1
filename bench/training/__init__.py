"""Speed of training generators and of generating."""
