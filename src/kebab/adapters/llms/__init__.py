"""Language models behind the LanguageModel port."""
