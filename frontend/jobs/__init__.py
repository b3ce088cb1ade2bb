"""Jobs as the front knows them: their folder, and the news that it tells the process which makes them."""
