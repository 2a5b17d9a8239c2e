"""What a host may talk about: the topics of a day."""
