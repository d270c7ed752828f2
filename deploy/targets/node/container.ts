/** Files to run the Node build in a container: on any host that accepts a Dockerfile, and on Fly. */

/** The newest of its release line as of 2026-11-22. A tag for the whole line would change between builds. */
const NODE_IMAGE = 'node:24.21.0-bookworm-slim'

const DOCKERFILE = `# Pinned for reproducible images: update it for each security release of Node.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
# npm install writes the lockfile: commit it.
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npx mayfly build --target node --out dist/node

FROM ${NODE_IMAGE}
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
COPY --from=build /app/dist/node .
USER node
EXPOSE 8080
CMD ["node", "server.mjs"]
`

/** Excludes secrets and everything that a build does not need. */
const DOCKERIGNORE = `.git
.env*
.dev.vars*
node_modules
dist
`

/** Cloud Run uploads the folder of `--source`. Without this file it would include files that git does not track. */
const GCLOUDIGNORE = DOCKERIGNORE

function flyToml(name: string): string {
  return `app = "${name}"
# Where it runs: use the region nearest to your users (fly platform regions).
primary_region = "fra"
# Running calls have 5 seconds to finish; then the process exits.
kill_timeout = "10s"

[http_service]
internal_port = 8080
force_https = true
auto_stop_machines = "stop"
auto_start_machines = true
min_machines_running = 0

[http_service.concurrency]
# Concurrent calls on one machine; an open stream counts as one.
type = "requests"
soft_limit = 200
hard_limit = 250

[[http_service.checks]]
method = "GET"
path = "/healthz"
interval = "30s"
timeout = "5s"
# Time for a machine to start before the first check counts.
grace_period = "10s"
`
}

export function containerFiles(name: string): { [path: string]: string } {
  return {
    Dockerfile: DOCKERFILE,
    '.dockerignore': DOCKERIGNORE,
    '.gcloudignore': GCLOUDIGNORE,
    'fly.toml': flyToml(name),
  }
}
