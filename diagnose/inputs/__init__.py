"""What a user hands over, opened safely: folders, archives, compressed and remote files, as plain lines."""
