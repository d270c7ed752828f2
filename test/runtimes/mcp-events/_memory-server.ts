import { createNotes } from './_server.ts'

export default createNotes()
