/**
 * The module `node:http`. An import of it would load all of `fetch` and WebSocket too, because an ES module gets every
 * export of a built-in one: that is a fifth of the daemon's start.
 */
export default process.getBuiltinModule('node:http');
