import express from 'express'
import { createExpressApp } from './express-app.js'

export default createExpressApp(express)
