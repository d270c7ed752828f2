/** A tool may return its questions instead of a result. It is called again with the answers. */
export interface InputRequired {
  resultType: 'input_required'
  inputRequests?: { [key: string]: { method: string; params?: object | undefined } }
  requestState?: string
}

export function isInputRequired(output: unknown): output is InputRequired {
  return (output as { resultType?: unknown } | null | undefined)?.resultType === 'input_required'
}
