/** Files to run the Node build in a container: on any host that accepts a Dockerfile, and on Fly. */

/** The newest of its release line as of 2026-11-22. A tag for the whole line would change between builds. */
const NODE_IMAGE = 'node:24.21.0-bookworm-slim'

const DOCKERFILE = `# Pinned for reproducible images: update it for each security release of Node.
FROM ${NODE_IMAGE} AS build
# In a workspace, build from the repository's root, with the folder of this package and the .dockerignore there:
# docker build -f packages/shop/Dockerfile --build-arg PACKAGE=packages/shop .
ARG PACKAGE=.
WORKDIR /app
COPY . .
# npm, pnpm and yarn (with nodeLinker: node-modules) write their lockfile at the first install: commit it. corepack runs the version of
# "packageManager" in package.json. esbuild works without its install script, which pnpm does not run.
RUN if [ -f pnpm-lock.yaml ]; then corepack enable && pnpm install --frozen-lockfile --config.strict-dep-builds=false; \\
  elif [ -f yarn.lock ]; then corepack enable && yarn install --frozen-lockfile; \\
  else npm ci; fi
WORKDIR /app/\${PACKAGE}
RUN npx --no mayfly build --target node --out dist/node

FROM ${NODE_IMAGE}
ARG PACKAGE=.
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
COPY --from=build /app/\${PACKAGE}/dist/node .
USER node
EXPOSE 8080
CMD ["node", "server.mjs"]
`

/** Excludes secrets and everything that a build does not need, in every folder. */
const DOCKERIGNORE = `**/.git
**/.env*
**/.dev.vars*
**/node_modules
**/dist
`

/** Cloud Run uploads the folder of `--source`. Without this file it would include files that git does not track. */
const GCLOUDIGNORE = DOCKERIGNORE

/** Fly looks at requests alone: a machine whose tasks sleep or run, or whose deliveries are due, counts as idle. https://fly.io/docs/blueprints/long-running-tasks/ */
const WITH_TASKS = `# A stopped machine runs no tasks and repeats no deliveries: one always runs, and is billed for every second (fly.io/docs/about/pricing).
auto_stop_machines = "off"
auto_start_machines = true
min_machines_running = 1`

const WITHOUT_TASKS = `auto_stop_machines = "stop"
auto_start_machines = true
min_machines_running = 0`

function flyToml(name: string, hasTasks: boolean): string {
  return `app = "${name}"
# Where it runs: use the region nearest to your users (fly platform regions).
primary_region = "fra"
# Running calls have 5 seconds to finish; then the process exits.
kill_timeout = "10s"

[http_service]
internal_port = 8080
force_https = true
${hasTasks ? WITH_TASKS : WITHOUT_TASKS}

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

/** @param hasTasks Whether the process must run without requests. Default false. */
export function containerFiles(name: string, hasTasks = false): { [path: string]: string } {
  return {
    Dockerfile: DOCKERFILE,
    '.dockerignore': DOCKERIGNORE,
    '.gcloudignore': GCLOUDIGNORE,
    'fly.toml': flyToml(name, hasTasks),
  }
}
