#!/usr/bin/env node
// Nobody is logged in.
process.exit(1)
