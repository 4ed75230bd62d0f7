import { describeStore } from '../conformance/describe-store.ts';
import { embeddedPlaces } from './embedded-place.ts';

describeStore('a home', 'deliveries', embeddedPlaces());
