import { describeReader } from '../../../system/store/conformance/describe-store.ts';
import { embeddedPlaces } from '../../../system/store/embedded/embedded-place.ts';

describeReader('a home that is read in a thread of its own', embeddedPlaces({ readsInThread: true }));
