"""The MCP server: the tools, resources and prompts through which agents use one open knowledge base."""
