import { isObject, type Scalar } from '../filters/clause.ts';

/** @limit Most JSON values that the observation of payloads visits for one command: they take a fifth of a second. Further deliveries are not observed. */
const visitsMax = 1_000_000;
/** @limit Most different paths that the observation of payloads remembers for one command: real payloads have some hundred. */
const pathsMax = 20_000;
/** @limit Most fields of one object that are observed: an object with more is a map, and its keys are data. */
const fieldsMax = 200;
/** @limit Deepest level of a payload that is observed: payload filters nest no deeper. */
const depthMax = 16;
/** @limit Most different values that are remembered of one path: enough for the choices of an enumeration. */
const scalarsMax = 20;
/** @limit Longest string that is remembered as a value, in characters: longer ones are prose. */
const scalarCharsMax = 64;

export const observedTypes = ['null', 'boolean', 'integer', 'number', 'string', 'object', 'array'] as const;
export type ObservedType = (typeof observedTypes)[number];

/** The values that were observed at one path of payloads. */
export interface ObservedNode {
  /** The number of deliveries in which the path has a value. */
  readonly deliveries: number;
  /** The number of observed values of each type. */
  readonly types: Readonly<Record<ObservedType, number>>;
  readonly fields: ReadonlyMap<string, ObservedNode>;
  /** The elements of all arrays together. */
  readonly elements: ObservedNode | undefined;
  /**
   * The first different strings, numbers, booleans and nulls, and how often each was observed until there were others.
   */
  readonly scalars: ReadonlyMap<Scalar, number>;
  /** Other scalars were observed that were too many or too long to remember. */
  readonly hasMoreScalars: boolean;
  /** Fields were observed that were too many or too deep to remember. */
  readonly hasMoreFields: boolean;
}

/** The shape of a webhook's payloads, as they were observed. */
export interface Observation {
  /** The number of observed deliveries. */
  readonly deliveries: number;
  readonly root: ObservedNode;
}

export interface Observer {
  readonly observation: Observation;
  add(payload: unknown): void;
}

/** The visits and paths that the observers of one command may still spend together. */
export interface ObservationBudget {
  visits: number;
  paths: number;
}

export function createObservationBudget(): ObservationBudget {
  return { visits: visitsMax, paths: pathsMax };
}

/** Observes payloads one by one. Once the budget is spent, it ignores further ones, so counts stay exact. */
export function createObserver(budget: ObservationBudget): Observer {
  const observation = { deliveries: 0, root: createNode() };
  return {
    observation,
    add: payload => {
      if (budget.visits <= 0) return;
      observation.deliveries += 1;
      visit(payload, observation.root, { delivery: observation.deliveries, budget }, 0);
    },
  };
}

interface Node extends ObservedNode {
  deliveries: number;
  lastDelivery: number;
  readonly types: Record<ObservedType, number>;
  readonly fields: Map<string, Node>;
  elements: Node | undefined;
  readonly scalars: Map<Scalar, number>;
  hasMoreScalars: boolean;
  hasMoreFields: boolean;
}

function createNode(): Node {
  return {
    ...{ deliveries: 0, lastDelivery: 0, types: noTypes(), fields: new Map(), elements: undefined },
    ...{ scalars: new Map(), hasMoreScalars: false, hasMoreFields: false },
  };
}

function noTypes(): Record<ObservedType, number> {
  return { null: 0, boolean: 0, integer: 0, number: 0, string: 0, object: 0, array: 0 };
}

interface Visit {
  readonly delivery: number;
  readonly budget: ObservationBudget;
}

function visit(value: unknown, node: Node, during: Visit, depth: number): void {
  during.budget.visits -= 1;
  if (node.lastDelivery !== during.delivery) node.deliveries += 1;
  node.lastDelivery = during.delivery;
  const type = typeOf(value);
  node.types[type] += 1;
  if (isObject(value)) visitFields(value, node, during, depth);
  else if (Array.isArray(value)) visitElements(value, node, during, depth);
  else rememberScalar(value as Scalar, node);
}

function visitFields(
  value: Readonly<Record<string, unknown>>,
  node: Node,
  during: Visit,
  depth: number,
): void {
  for (const key of Object.keys(value)) {
    const child = node.fields.get(key) ?? addField(node, key, during, depth);
    if (child) visit(value[key], child, during, depth + 1);
    else node.hasMoreFields = true;
  }
}

function addField(node: Node, key: string, { budget }: Visit, depth: number): Node | undefined {
  if (depth >= depthMax || node.fields.size >= fieldsMax || budget.paths <= 0) return undefined;
  budget.paths -= 1;
  const child = createNode();
  node.fields.set(key, child);
  return child;
}

function visitElements(values: readonly unknown[], node: Node, during: Visit, depth: number): void {
  if (depth >= depthMax) {
    node.hasMoreFields = true;
    return;
  }
  node.elements ??= createNode();
  for (const element of values) visit(element, node.elements, during, depth + 1);
}

function rememberScalar(value: Scalar, node: Node): void {
  if (node.hasMoreScalars) return;
  const count = node.scalars.get(value);
  if (count !== undefined) node.scalars.set(value, count + 1);
  else if (node.scalars.size >= scalarsMax || (typeof value === 'string' && value.length > scalarCharsMax))
    node.hasMoreScalars = true;
  else node.scalars.set(value, 1);
}

function typeOf(value: unknown): ObservedType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'boolean' | 'string' | 'object';
}

/** Returns the nodes of a path, and the elements of those that are arrays: filters search one level of array. */
export function enterArrays<T extends { readonly elements: T | undefined }>(
  nodes: readonly T[],
): readonly T[] {
  return nodes.flatMap(node => (node.elements ? [node, node.elements] : [node]));
}
