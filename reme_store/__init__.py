"""Files are the truth; everything else here can be rebuilt from them."""
