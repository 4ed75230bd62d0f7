import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { parseJsonText } from '../../../json/parse-json-text.ts';
import type { Scalar } from '../../../schema/filters/clause.ts';
import { toChangeQuery } from '../../state/clause-change.ts';
import { useFactory } from '../../state/current-factory.ts';
import {
  createValueRenderer,
  describeFields,
  type FoundNodes,
  findNodes,
  isContainer,
  listNodes,
  shownFieldsMax,
  type TreeNode,
} from '../../text/payload-tree.ts';
import { Button } from '../controls.tsx';
import { CopyButton } from '../copyable.tsx';
import { Link, Marked, Text } from '../text.tsx';

/** Levels that are open at first. */
const openLevels = 1;

/** A search in a payload: what is sought, what was found, and which of the matches is shown, from 0 on. */
interface PayloadSearch {
  readonly sought: string;
  readonly found: FoundNodes;
  readonly at: number;
}

/** Searches a payload, from match to match. */
export function usePayloadSearch(payload: string) {
  const root = useMemo(() => parseJsonText(payload), [payload]);
  const [{ sought, at }, setState] = useState({ sought: '', at: 0 });
  const found = useMemo(() => findNodes(root, sought), [root, sought]);
  const count = found.paths.length;
  return {
    root,
    search: { sought, found, at: Math.min(at, Math.max(0, count - 1)) },
    setSought: (text: string) => setState({ sought: text, at: 0 }),
    go: (step: number) => count > 0 && setState({ sought, at: (at + step + count) % count }),
  };
}

interface Properties {
  readonly payload: string;
  readonly root: unknown;
  readonly search: PayloadSearch;
  /** Lists deliveries whose payload contains a text. */
  readonly onFilter: (text: string) => void;
  /** The name of the webhook, if automations can still filter on what it gets. */
  readonly webhook: string | undefined;
}

/** A payload as a tree, of which the user opens what matters. Two levels are open at first, and what a search finds. */
export function PayloadTree({ payload, root, search, onFilter, webhook }: Properties) {
  const tree = useRef<HTMLDivElement>(null);
  /** What the user opened or closed. */
  const [switched, setSwitched] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map());
  const render = useMemo(() => createValueRenderer(payload), [payload]);
  const { found, at, sought } = search;
  const nodes = useMemo(
    () =>
      listNodes(root, {
        isOpen: (path, depth) => found.above.has(path) || (switched.get(path) ?? depth < openLevels),
        shownOf: path =>
          found.above.has(path) ? Number.POSITIVE_INFINITY : (shown.get(path) ?? shownFieldsMax),
      }),
    [root, found, switched, shown],
  );
  const current = found.paths[at];
  useEffect(() => {
    tree.current?.querySelector('.is-found')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <div ref={tree} class="tree" role="tree" aria-label="Payload" onKeyDown={moveInTree}>
      {nodes.map((node, index) =>
        node.rest === undefined ? (
          <Node
            key={node.path}
            node={node}
            value={render(node)}
            sought={sought}
            isFirst={index === 0}
            isFound={node.path === current}
            onToggle={() => setSwitched(new Map([...switched, [node.path, !node.isOpen]]))}
            onFilter={onFilter}
            webhook={webhook}
          />
        ) : (
          <Button
            look="quiet small"
            label={`${node.rest.toLocaleString('en')} more`}
            key={`${node.path} rest`}
            onClick={() =>
              setShown(
                new Map([...shown, [node.path, (shown.get(node.path) ?? shownFieldsMax) + shownFieldsMax]]),
              )
            }
          />
        ),
      )}
    </div>
  );
}

interface NodeProperties {
  readonly node: TreeNode;
  readonly value: string;
  readonly sought: string;
  readonly isFirst: boolean;
  readonly isFound: boolean;
  readonly onToggle: () => void;
  readonly onFilter: (text: string) => void;
  readonly webhook: string | undefined;
}

function Node({ node, value, sought, isFirst, isFound, onToggle, onFilter, webhook }: NodeProperties) {
  const [isActive, setActive] = useState(false);
  const { path, name, depth, isOpen } = node;
  const isScalar = isOpen === undefined;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys of all its lines
    <div
      class={`n ${isFound ? 'is-hover is-found' : ''}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={isOpen}
      tabIndex={isFirst ? 0 : -1}
      style={{ '--d': depth }}
      onPointerEnter={() => setActive(true)}
      onPointerLeave={() => setActive(false)}
      onFocusIn={() => setActive(true)}
      onFocusOut={() => setActive(false)}
      onClick={event => (event.target as HTMLElement).closest('button') || onToggle()}
    >
      <span class="tw" aria-hidden="true">
        {isScalar ? '' : isOpen ? '⌄' : '›'}
      </span>
      <span class="k">
        <Marked text={name} sought={sought} />
      </span>
      {isScalar ? (
        <span class={value.startsWith('"') ? 's cut' : 'num cut'}>
          <Marked text={value} sought={sought} />
        </span>
      ) : (
        <Text class="o cut" text={describeFields(node.value)} />
      )}
      {(isActive || isFound) && (
        <span class="copy flow">
          {isScalar && !value.endsWith('…') && (
            <button type="button" class="copy-text" onClick={() => onFilter(value)}>
              Filter by this value
            </button>
          )}
          {isScalar && webhook !== undefined && <AutomateLink node={node} webhook={webhook} />}
          <CopyButton text={path} what="path" kind="text" />
        </span>
      )}
    </div>
  );
}

/** Leads to the draft of an automation that acts on deliveries with this value. A filter cannot look into arrays. */
function AutomateLink({ node, webhook }: { readonly node: TreeNode; readonly webhook: string }) {
  const { factory, mayManage } = useFactory();
  const { path, steps, value } = node;
  const canFilter = !isContainer(value) && steps.length > 0 && !steps.some(Number.isInteger);
  if (!mayManage || !canFilter) return null;
  const values = [value as Scalar];
  const change = toChangeQuery({ trigger: 0, kind: 'payload', path, operator: 'in', values });
  return (
    <Link
      class="copy-text"
      to={{ page: 'new-automation', factory, query: { webhook, ...change } }}
      text="Automate"
      aria-label={`Write an automation for ${path}`}
    />
  );
}

/** Moves the focus through the lines of a tree, and opens and closes them, as the ARIA pattern for trees says. */
function moveInTree(event: KeyboardEvent): void {
  const line = (event.target as HTMLElement).closest<HTMLElement>('[role=treeitem]');
  const tree = event.currentTarget as HTMLElement;
  if (!line || event.target !== line) return;
  const lines = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')];
  const at = lines.indexOf(line);
  const isOpen = line.ariaExpanded;
  const levelOf = (each: HTMLElement) => Number(each.ariaLevel);
  const act = (
    {
      ArrowDown: () => lines[at + 1]?.focus(),
      ArrowUp: () => lines[at - 1]?.focus(),
      Home: () => lines[0]?.focus(),
      End: () => lines.at(-1)?.focus(),
      Enter: () => line.click(),
      ArrowRight: () => (isOpen === 'false' ? line.click() : lines[at + 1]?.focus()),
      ArrowLeft: () =>
        isOpen === 'true'
          ? line.click()
          : lines.findLast((each, index) => index < at && levelOf(each) < levelOf(line))?.focus(),
    } as Readonly<Record<string, (() => void) | undefined>>
  )[event.key];
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}
