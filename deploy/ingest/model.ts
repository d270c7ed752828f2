/** The embedding model that the command line names. */
import { type EmbeddingModel, toEmbed } from '../../src/retrieval/embed.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { loadDefault } from './module.ts'

export interface LoadedModel {
  /** Part of each chunk's id. */
  readonly id: string
  embed(texts: readonly string[]): Promise<number[][]>
}

/** Throws `CliError` for a module that exports no model. */
export async function loadModel(cwd: string, name: string): Promise<LoadedModel> {
  const isNamed = name.startsWith('openai/')
  const model = (isNamed ? name : await loadDefault(cwd, name, 'an embedding model')) as EmbeddingModel
  try {
    const embed = toEmbed(model)
    // A model of the AI SDK says which it is; of a function, the file is all there is.
    const { modelId } = model as { modelId?: unknown }
    const id = typeof modelId === 'string' ? modelId : name
    return { id, embed: (texts) => embed(texts, { env: process.env }) }
  } catch (error) {
    throw new CliError(`${printable(name)}: ${(error as Error).message}`)
  }
}
