import { describeReader } from '../conformance/describe-store.ts';
import { embeddedPlaces } from './embedded-place.ts';

describeReader('a home that is read in a thread of its own', embeddedPlaces({ readsInThread: true }));
