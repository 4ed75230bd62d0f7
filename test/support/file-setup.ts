import { closeAtFileEnd } from './file-end.ts';

closeAtFileEnd();
