"""LangGraph state machines over the store: from conversations and documents to lasting, linked memory."""
