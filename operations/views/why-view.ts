import type { z } from 'zod';
import type { whyAnswer } from '../../schema/api/answers.ts';

export type WhyView = z.output<typeof whyAnswer>;
