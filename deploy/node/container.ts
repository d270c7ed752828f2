/** What runs the Node artefact in a container: on any host that takes a Dockerfile, and on Fly. */

const DOCKERFILE = `FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npx mayfly build --target node --out dist/node

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080
COPY --from=build /app/dist/node .
USER node
EXPOSE 8080
CMD ["node", "server.mjs"]
`

/** Nothing that a build does not need, and no secret. */
const DOCKERIGNORE = `.git
.env*
.dev.vars*
node_modules
dist
`

function flyToml(name: string): string {
  return `app = "${name}"

[http_service]
internal_port = 8080
force_https = true
auto_stop_machines = "stop"
auto_start_machines = true
min_machines_running = 0

[[http_service.checks]]
method = "GET"
path = "/healthz"
interval = "30s"
timeout = "5s"
`
}

export function containerFiles(name: string): { [path: string]: string } {
  return { Dockerfile: DOCKERFILE, '.dockerignore': DOCKERIGNORE, 'fly.toml': flyToml(name) }
}
