"""Networks. The only room with torch; importing the room itself loads none."""
