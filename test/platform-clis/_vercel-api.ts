/**
 * Vercel's API as far as its CLI needs it to deploy a project named shop: the paths, headers and errors (`x-now-digest`, `missing_files`) that
 * the CLI's own code asks for and reads (`dist` of 58.10.0, compared on 2026-11-22).
 */
import type { Received, Reply } from './_double.ts'

export interface DeploymentFile {
  readonly file: string
  readonly sha: string
}

const USER = {
  id: 'u',
  uid: 'u',
  email: 'a@shop.example',
  username: 'me',
  version: 'northstar',
  defaultTeamId: 'team_x',
}
const TEAM = { id: 'team_x', slug: 'me', name: 'me' }
const PROJECT = { id: 'prj_x', name: 'shop', accountId: 'team_x', link: null }
const DEPLOYMENT = {
  id: 'dpl',
  uid: 'dpl',
  name: 'shop',
  url: 'shop.localhost',
  readyState: 'READY',
  status: 'READY',
  alias: ['shop.localhost'],
  aliasAssigned: true,
  projectId: 'prj_x',
  target: 'production',
  creator: { uid: 'u' },
}

/**
 * Says of every file that it is missing, until it was uploaded. `others` are the names of projects that the team has beside shop, whose id is
 * `prj_<name>`.
 */
export function createVercelAnswer(others: readonly string[] = []): (request: Received) => Reply {
  const uploaded = new Set<string>()
  const projects = new Set(others)
  const named = (name: string): Reply => ({ json: { ...PROJECT, id: `prj_${name}`, name } })
  return ({ method, path, headers, body }) => {
    if (path.startsWith('/v1/teams')) return { json: { teams: [TEAM], pagination: { count: 1 } } }
    if (method === 'POST' && /\/projects(?:\?|$)/.test(path)) {
      const { name } = JSON.parse(body.toString()) as { name: string }
      projects.add(name)
      return named(name)
    }
    const [, project = 'prj_x'] = /\/v9\/projects\/([^/?]+)(?:\?|$)/.exec(path) ?? []
    const name = project.replace('prj_', '')
    if (name !== 'x') {
      if (projects.has(name)) return named(name)
      return { status: 404, json: { error: { code: 'not_found', message: 'Project not found' } } }
    }
    if (path.startsWith('/v2/user')) return { json: { user: USER } }
    if (path.startsWith('/teams')) return { json: TEAM }
    if (/\/env\b/.test(path)) return { json: method === 'GET' ? { envs: [] } : { created: {}, failed: [] } }
    if (path.includes('/custom-environments')) return { json: { environments: [] } }
    if (/\/projects\/prj_x\b/.test(path)) return { json: PROJECT }
    if (path.includes('/files')) {
      uploaded.add(headers.get('x-now-digest') ?? '')
      return { json: {} }
    }
    if (method === 'POST' && path.includes('/deployments')) {
      const { files } = JSON.parse(body.toString()) as { files: DeploymentFile[] }
      const missing = files.map(({ sha }) => sha).filter((sha) => !uploaded.has(sha))
      if (missing.length > 0)
        return { status: 400, json: { error: { code: 'missing_files', message: 'Missing', missing } } }
    }
    return { json: DEPLOYMENT }
  }
}
