"""Request and response bodies that several API resources share."""
