import { describe } from 'vitest';
import { testOneDaemon } from '../conformance/claims.ts';
import { describeStore } from '../conformance/describe-store.ts';
import { embeddedPlaces } from './embedded-place.ts';

describe('daemons of a home', () => testOneDaemon(embeddedPlaces()));
describeStore('a home', 'documents', embeddedPlaces());
