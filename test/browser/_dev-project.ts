/** A project of a folder of its own, served by `mayfly dev`. */
import { testPort } from '../_port.ts'
import { MayflyProcess, Project } from '../cli/_dev-process.ts'

export interface DevProject extends AsyncDisposable {
  readonly origin: string
  readonly mayfly: MayflyProcess
  readonly project: Project
}

/** Resolves when the server is ready. @param arrange Writes the project. */
export async function serveProject(target: string, arrange: (project: Project) => void): Promise<DevProject> {
  const project = new Project()
  arrange(project)
  const port = String(await testPort())
  const mayfly = new MayflyProcess(['dev', '--target', target, '--port', port], project.folder)
  await mayfly.ready()
  return {
    origin: `http://127.0.0.1:${port}`,
    mayfly,
    project,
    [Symbol.asyncDispose]: async () => {
      await mayfly[Symbol.asyncDispose]()
      await project[Symbol.asyncDispose]()
    },
  }
}
