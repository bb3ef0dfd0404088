import { MillraceError } from '../errors/millrace-error.js';
import { loadEmbeddingModel } from '../inference/load-model.js';
