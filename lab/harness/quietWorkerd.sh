#!/bin/sh
# The runtime without its standard output: the log lines of the Worker.
exec "$PERIGEE_LAB_WORKERD" "$@" >/dev/null
