import express from 'express-4'
import { createExpressApp } from './express-app.js'

export default createExpressApp(express)
