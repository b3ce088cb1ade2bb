"""English text as it is said: dates, amounts, addresses, Markdown and the like in words, one rule family a file."""
