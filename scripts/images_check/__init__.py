"""Builds the images, runs them by docker-compose.yml, crawls with them, and says what is not as it should be.

Run by `make images-check`. It uses the Docker daemon of this machine. Where there is none, and this is root on a Debian
that may make namespaces, it starts one of its own from Debian's packages, in namespaces and a directory of its own,
with stand-ins made of Debian's packages for the images that it cannot pull.
"""
