"""What a page says: fields, text, links. Text in, values out."""
