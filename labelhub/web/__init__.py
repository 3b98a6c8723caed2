"""What stands between the network and Django: bodies come in whole, slow readers hold nothing."""
