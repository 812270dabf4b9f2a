// src/constants.js
var MODE_HYDRATE = 1 << 5;
var MODE_SUSPENDED = 1 << 7;
var INSERT_VNODE = 1 << 2;
var MATCHED = 1 << 1;
var REF_DETACHED = 1 << 3;
var COMPONENT_PROCESSING_EXCEPTION = 1 << 0;
var COMPONENT_PENDING_ERROR = 1 << 1;
var COMPONENT_FORCE = 1 << 2;
var COMPONENT_DIRTY = 1 << 3;
var RESET_MODE = ~(MODE_HYDRATE | MODE_SUSPENDED);
var SVG_NAMESPACE = "http://www.w3.org/2000/svg";
var XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml";
var MATH_NAMESPACE = "http://www.w3.org/1998/Math/MathML";
var NULL = null;
var UNDEFINED = void 0;
var VNODE_MARKER = /* @__PURE__ */ Symbol.for("pv");
var EMPTY_OBJ = (
  /** @type {any} */
  {}
);
var EMPTY_ARR = [];
var MATHML_TOKEN_ELEMENTS = /^m(i|n|o|s|text|space)$/;
var LIS_CANDIDATE = 1 << 4;

// src/util.js
var isArray = Array.isArray;
var slice = EMPTY_ARR.slice;
var assign = Object.assign;
function removeNode(node) {
  if (node && node.parentNode) node.remove();
}

// src/diff/catch-error.js
function _catchError(error, vnode, oldVNode, errorInfo) {
  let component, ctor, handled;
  for (; vnode = vnode._parent; ) {
    if ((component = vnode._component) && !(component._bits & COMPONENT_PROCESSING_EXCEPTION)) {
      component._bits |= COMPONENT_FORCE;
      try {
        ctor = component.constructor;
        if (handled = ctor && ctor.getDerivedStateFromError) {
          component.setState(ctor.getDerivedStateFromError(error));
        }
        if (component.componentDidCatch) {
          component.componentDidCatch(error, errorInfo || {});
          handled = 1;
        }
        if (handled && component._bits & COMPONENT_DIRTY) {
          component._bits |= COMPONENT_PENDING_ERROR;
          return;
        }
      } catch (e) {
        error = e;
      }
    }
  }
  resetRenderCount();
  throw error;
}

// src/options.js
var options = {
  _catchError
};
var options_default = options;

// src/create-element.js
var vnodeId = 0;
function createElement(type, props, children) {
  let normalizedProps = {}, key, ref, i2, length = arguments.length;
  for (i2 in props) {
    if (i2 == "key") key = props[i2];
    else if (i2 == "ref" && typeof type != "function") ref = props[i2];
    else normalizedProps[i2] = props[i2];
  }
  if (length > 2) {
    normalizedProps.children = length > 3 ? slice.call(arguments, 2) : children;
  }
  return createVNode(type, normalizedProps, key, ref, NULL);
}
function cloneElement(vnode, props, children) {
  let normalizedProps = assign({}, vnode.props), key, ref, i2, length = arguments.length;
  for (i2 in props) {
    if (i2 == "key") key = props[i2];
    else if (i2 == "ref" && typeof vnode.type != "function") ref = props[i2];
    else normalizedProps[i2] = props[i2];
  }
  if (length > 2) {
    normalizedProps.children = length > 3 ? slice.call(arguments, 2) : children;
  }
  return createVNode(
    vnode.type,
    normalizedProps,
    key !== UNDEFINED ? key : vnode.key,
    ref !== UNDEFINED ? ref : vnode.ref,
    NULL
  );
}
function createVNode(type, props, key, ref, original) {
  const vnode = {
    type,
    props,
    key,
    ref,
    _children: NULL,
    _parent: NULL,
    _depth: 0,
    _dom: NULL,
    _component: NULL,
    constructor: VNODE_MARKER,
    _original: original || ++vnodeId,
    _index: -1,
    _flags: 0
  };
  if (!original && options_default.vnode) options_default.vnode(vnode);
  return vnode;
}
function createRef() {
  return { current: NULL };
}
function Fragment(props) {
  return props.children;
}
var isValidElement = (vnode) => vnode != NULL && vnode.constructor === VNODE_MARKER;

// src/component.js
function BaseComponent(props, context) {
  this.props = props;
  this.context = context;
  this._bits = 0;
}
BaseComponent.prototype.setState = function(update, callback) {
  let s = this._nextState;
  if (!s || s == this.state) {
    s = this._nextState = assign({}, this.state);
  }
  if (typeof update == "function") {
    update = update(assign({}, s), this.props);
  }
  if (update) {
    assign(s, update);
  } else {
    return;
  }
  if (this._vnode) {
    if (callback) {
      this._stateCallbacks.push(callback);
    }
    enqueueRender(this);
  }
};
BaseComponent.prototype.forceUpdate = function(callback) {
  if (this._vnode) {
    this._bits |= COMPONENT_FORCE;
    if (callback) this._renderCallbacks.push(callback);
    enqueueRender(this);
  }
};
BaseComponent.prototype.render = Fragment;
function getDomSibling(vnode, childIndex) {
  if (childIndex == NULL) {
    return vnode._parent && getDomSibling(vnode._parent, vnode._index + 1);
  }
  let sibling;
  for (; childIndex < vnode._children.length; childIndex++) {
    sibling = vnode._children[childIndex];
    if (sibling && sibling._dom) {
      return sibling._dom;
    }
  }
  return typeof vnode.type == "function" && !vnode.props._parentDom ? getDomSibling(vnode) : NULL;
}
function renderComponent(component) {
  const oldVNode = component._vnode, oldDom = oldVNode._dom, commitQueue = [], refQueue = [];
  const parentDom = component._parentDom;
  if (parentDom) {
    const newVNode = assign({ constructor: VNODE_MARKER }, oldVNode);
    newVNode._original = oldVNode._original + 1;
    if (options_default.vnode) options_default.vnode(newVNode);
    diff(
      parentDom,
      newVNode,
      oldVNode,
      component._globalContext,
      parentDom.namespaceURI,
      oldVNode._flags & MODE_HYDRATE ? [oldDom] : NULL,
      commitQueue,
      oldDom || getDomSibling(oldVNode),
      oldVNode._flags & MODE_HYDRATE,
      refQueue
    );
    newVNode._original = oldVNode._original;
    newVNode._parent._children[newVNode._index] = newVNode;
    commitRoot(commitQueue, newVNode, refQueue);
    oldVNode._parent = oldVNode._dom = NULL;
    if (newVNode._dom != oldDom) {
      updateParentDomPointers(newVNode);
    }
  }
}
function updateParentDomPointers(vnode) {
  if ((vnode = vnode._parent) && vnode._component && !vnode.props._parentDom) {
    vnode._dom = NULL;
    vnode._children.some((child) => child && (vnode._dom = child._dom));
    return updateParentDomPointers(vnode);
  }
}
var rerenderQueue = [];
var prevDebounce;
var rerenderCount = 0;
function resetRenderCount() {
  rerenderCount = 0;
}
function enqueueRender(c) {
  if (!(c._bits & COMPONENT_DIRTY) && (c._bits |= COMPONENT_DIRTY, rerenderQueue.push(c), !rerenderCount++) || prevDebounce != options_default.debounceRendering) {
    prevDebounce = options_default.debounceRendering;
    (prevDebounce || queueMicrotask)(process);
  }
}
var depthSort = (a, b) => a._vnode._depth - b._vnode._depth;
function process() {
  try {
    let c, l = 1;
    while (rerenderQueue.length) {
      if (rerenderQueue.length > l) {
        rerenderQueue.sort(depthSort);
      }
      c = rerenderQueue.shift();
      l = rerenderQueue.length;
      if (c._bits & COMPONENT_DIRTY) {
        renderComponent(c);
      }
    }
  } finally {
    if (rerenderCount = rerenderQueue.length) {
      (prevDebounce || queueMicrotask)(process);
    }
  }
}

// src/diff/children.js
function diffChildren(parentDom, renderResult, newParentVNode, oldParentVNode, globalContext, namespace, excessDomChildren, commitQueue, oldDom, isHydrating, refQueue) {
  let i2, oldVNode, childVNode, newDom, firstChildDom;
  let oldChildren = oldParentVNode._children || EMPTY_ARR;
  let newChildrenLength = renderResult.length;
  oldDom = constructNewChildrenArray(
    newParentVNode,
    renderResult,
    oldChildren,
    oldDom,
    newChildrenLength
  );
  for (i2 = 0; i2 < newChildrenLength; i2++) {
    childVNode = newParentVNode._children[i2];
    if (childVNode == NULL) continue;
    oldVNode = ~childVNode._index && oldChildren[childVNode._index] || EMPTY_OBJ;
    childVNode._index = i2;
    let result = diff(
      parentDom,
      childVNode,
      oldVNode,
      globalContext,
      namespace,
      excessDomChildren,
      commitQueue,
      oldDom,
      isHydrating,
      refQueue
    );
    newDom = childVNode._dom;
    if (oldVNode.ref != childVNode.ref || oldVNode._flags & REF_DETACHED) {
      if (oldVNode.ref) applyRef(oldVNode.ref, NULL, childVNode, oldVNode);
      if (childVNode.ref) {
        refQueue.push(
          childVNode.ref,
          childVNode._component || newDom,
          childVNode
        );
      }
    }
    firstChildDom = firstChildDom || newDom;
    if (childVNode._flags & INSERT_VNODE) {
      oldDom = insert(childVNode, oldDom, parentDom, !oldVNode._original);
      if (oldVNode._dom) {
        oldVNode._dom = NULL;
      }
    } else if (typeof childVNode.type == "function" && result !== UNDEFINED) {
      oldDom = result;
    } else if (newDom) {
      oldDom = newDom.nextSibling;
    }
    childVNode._flags &= ~(INSERT_VNODE | LIS_CANDIDATE);
  }
  newParentVNode._dom = firstChildDom;
  return oldDom;
}
function constructNewChildrenArray(newParentVNode, renderResult, oldChildren, oldDom, newChildrenLength) {
  let i2;
  let childVNode;
  let oldVNode;
  let oldChildrenLength = oldChildren.length, remainingOldChildren = oldChildrenLength;
  let skew = 0;
  let moved = 0;
  let newChildren = newParentVNode._children = Array(newChildrenLength);
  for (i2 = 0; i2 < newChildrenLength; i2++) {
    childVNode = renderResult[i2];
    if (childVNode == NULL || typeof childVNode == "boolean" || typeof childVNode == "function") {
      newChildren[i2] = NULL;
      continue;
    } else if (typeof childVNode != "object" || childVNode.constructor === String) {
      childVNode = newChildren[i2] = createVNode(NULL, childVNode);
    } else if (isArray(childVNode)) {
      childVNode = newChildren[i2] = createVNode(Fragment, {
        children: childVNode
      });
    } else if (childVNode.constructor === VNODE_MARKER && childVNode._depth) {
      childVNode = newChildren[i2] = createVNode(
        childVNode.type,
        childVNode.props,
        childVNode.key,
        childVNode.ref,
        childVNode._original
      );
    } else {
      newChildren[i2] = childVNode;
    }
    const skewedIndex = i2 + skew;
    childVNode._parent = newParentVNode;
    childVNode._depth = newParentVNode._depth + 1;
    const matchingIndex = childVNode._index = findMatchingIndex(
      childVNode,
      oldChildren,
      skewedIndex,
      remainingOldChildren
    );
    oldVNode = NULL;
    if (~matchingIndex) {
      oldVNode = oldChildren[matchingIndex];
      remainingOldChildren--;
      if (oldVNode) {
        oldVNode._flags |= MATCHED;
      }
    }
    if (!oldVNode || !oldVNode._original) {
      if (!~matchingIndex) {
        if (newChildrenLength > oldChildrenLength) {
          skew--;
        } else if (newChildrenLength < oldChildrenLength) {
          skew++;
        }
      }
      if (typeof childVNode.type != "function") {
        childVNode._flags |= INSERT_VNODE;
      }
    } else {
      childVNode._flags |= LIS_CANDIDATE;
      if (matchingIndex == skewedIndex - 1) {
        skew--;
      } else if (matchingIndex == skewedIndex + 1) {
        skew++;
      } else if (matchingIndex != skewedIndex) {
        if (matchingIndex > skewedIndex) {
          skew--;
        } else {
          skew++;
        }
        moved = 1;
      }
    }
  }
  if (moved) {
    let tails = [];
    let lisLengths = [];
    for (i2 = 0; i2 < newChildrenLength; i2++) {
      childVNode = newChildren[i2];
      if (childVNode && childVNode._flags & LIS_CANDIDATE) {
        skew = 0;
        let hi = tails.length;
        while (skew < hi) {
          const mid = skew + hi >> 1;
          if (tails[mid] < childVNode._index) {
            skew = mid + 1;
          } else {
            hi = mid;
          }
        }
        tails[skew] = childVNode._index;
        lisLengths[i2] = skew + 1;
      }
    }
    skew = tails.length;
    while (i2--) {
      if (lisLengths[i2]) {
        if (lisLengths[i2] == skew) {
          skew--;
        } else {
          newChildren[i2]._flags |= INSERT_VNODE;
        }
      }
    }
  }
  if (remainingOldChildren) {
    for (i2 = 0; i2 < oldChildrenLength; i2++) {
      oldVNode = oldChildren[i2];
      if (oldVNode && !(oldVNode._flags & MATCHED)) {
        if (oldVNode._dom == oldDom) {
          oldDom = getDomSibling(oldVNode);
        }
        unmount(oldVNode, oldVNode);
      }
    }
  }
  return oldDom;
}
function insert(parentVNode, oldDom, parentDom, isMounting) {
  if (typeof parentVNode.type == "function") {
    if (parentVNode.props._parentDom) return oldDom;
    let children = parentVNode._children;
    if (children) {
      for (let i2 = 0; i2 < children.length; i2++) {
        if (children[i2]) {
          children[i2]._parent = parentVNode;
          oldDom = insert(children[i2], oldDom, parentDom, false);
        }
      }
    }
    return oldDom;
  } else {
    if (oldDom && !oldDom.parentNode) {
      oldDom = getDomSibling(parentVNode);
      if (oldDom && !oldDom.parentNode) oldDom = NULL;
    }
    let dom = parentVNode._dom;
    let next = oldDom;
    while (next && next.nodeType == 8) next = next.nextSibling;
    if (dom != next) {
      if (!isMounting && parentDom.moveBefore && dom.parentNode) {
        parentDom.moveBefore(dom, oldDom);
      } else {
        parentDom.insertBefore(dom, oldDom || NULL);
      }
    }
    oldDom = dom;
  }
  while ((oldDom = oldDom && oldDom.nextSibling) && oldDom.nodeType == 8 && !oldDom.data.startsWith("$s")) ;
  return oldDom;
}
function toChildArray(children, out) {
  out = out || [];
  if (children != NULL && typeof children != "boolean") {
    if (isArray(children)) {
      children.some((child) => {
        toChildArray(child, out);
      });
    } else {
      out.push(children);
    }
  }
  return out;
}
function findMatchingIndex(childVNode, oldChildren, skewedIndex, remainingOldChildren) {
  const key = childVNode.key;
  const type = childVNode.type;
  let oldVNode = oldChildren[skewedIndex];
  const matched = oldVNode && !(oldVNode._flags & MATCHED);
  let shouldSearch = (
    // (typeof type != 'function' || type === Fragment || key) &&
    // The ternary keeps this a Smi comparison; `> matched` would compare
    // number to boolean which V8 can't serve from the fast path.
    remainingOldChildren > (matched ? 1 : 0)
  );
  if (oldVNode === NULL && key == NULL || matched && key == oldVNode.key && type == oldVNode.type) {
    return skewedIndex;
  } else if (shouldSearch) {
    let x;
    for (x = skewedIndex - 1; x >= 0; x--) {
      oldVNode = oldChildren[x];
      if (oldVNode && !(oldVNode._flags & MATCHED) && key == oldVNode.key && type == oldVNode.type)
        return x;
    }
    for (x = skewedIndex + 1; x < oldChildren.length; x++) {
      oldVNode = oldChildren[x];
      if (oldVNode && !(oldVNode._flags & MATCHED) && key == oldVNode.key && type == oldVNode.type)
        return x;
    }
  }
  return -1;
}

// src/diff/props.js
var EVENT_DISPATCHED = /* @__PURE__ */ Symbol();
function setStyle(style, key, value) {
  if (value == NULL) value = "";
  if (key[0] == "-") {
    style.setProperty(key, value);
  } else {
    style[key] = value;
  }
}
var CAPTURE_REGEX = /(PointerCapture)$|Capture$/i;
var eventClock = 0;
function setProperty(dom, name, value, oldValue, namespace) {
  let useCapture;
  if (name == "style") {
    if (typeof value == "string") {
      dom.style.cssText = value;
    } else {
      if (typeof oldValue == "string") {
        dom.style.cssText = oldValue = "";
      }
      if (oldValue) {
        for (name in oldValue) {
          if (!(value && name in value)) {
            setStyle(dom.style, name);
          }
        }
      }
      if (value) {
        for (name in value) {
          if (!oldValue || value[name] != oldValue[name]) {
            setStyle(dom.style, name, value[name]);
          }
        }
      }
    }
  } else if (name[0] == "o" && name[1] == "n") {
    if (typeof value != "function") value = NULL;
    if (typeof oldValue != "function") oldValue = NULL;
    (dom._listeners || (dom._listeners = {}))[name] = value;
    if (!value || !oldValue) {
      const proxy = eventProxies[name] || (eventProxies[name] = createEventProxy(name));
      (dom._attached || (dom._attached = {}))[name] = eventClock;
      useCapture = name != (name = name.replace(CAPTURE_REGEX, "$1"));
      name = name.slice(2);
      if (name[0] < "a") name = name.toLowerCase();
      if (value) {
        dom.addEventListener(name, proxy, useCapture);
      } else {
        dom.removeEventListener(name, proxy, useCapture);
      }
    }
  } else {
    if (namespace == SVG_NAMESPACE) {
      name = name.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
    } else if (name != "width" && name != "height" && name != "href" && name != "list" && name != "form" && // Default value in browsers is `-1` and an empty string is
    // cast to `0` instead
    name != "tabIndex" && name != "download" && name != "rowSpan" && name != "colSpan" && name != "role" && name != "popover" && name in dom) {
      try {
        dom[name] = value == NULL ? "" : value;
        return;
      } catch (e) {
      }
    }
    if (typeof value == "function") return;
    if (value != NULL && (value !== false || name[4] == "-")) {
      dom.setAttribute(name, name == "popover" && value == true ? "" : value);
    } else {
      dom.removeAttribute(name);
    }
  }
}
function createEventProxy(name) {
  return function(e) {
    let eventHandler = this._listeners;
    if (eventHandler) {
      eventHandler = eventHandler[name];
      if (e[EVENT_DISPATCHED] == NULL) {
        e[EVENT_DISPATCHED] = eventClock++;
      } else if (e[EVENT_DISPATCHED] < this._attached[name]) {
        return;
      }
      return eventHandler(options_default.event ? options_default.event(e) : e);
    }
  };
}
var eventProxies = {};

// src/diff/index.js
function diff(parentDom, newVNode, oldVNode, globalContext, namespace, excessDomChildren, commitQueue, oldDom, isHydrating, refQueue) {
  let tmp, resumed, newType = newVNode.type;
  if (newVNode.constructor !== VNODE_MARKER) return NULL;
  if (oldVNode._flags & MODE_SUSPENDED && // @ts-expect-error This is MODE_HYDRATE or 0
  (isHydrating = oldVNode._flags & MODE_HYDRATE, tmp = oldVNode._component._excess)) {
    newVNode._flags |= isHydrating;
    resumed = excessDomChildren = [];
    if (tmp.nodeType == 8) {
      oldDom = rangeEnd(tmp, excessDomChildren);
    } else {
      excessDomChildren.push(tmp);
    }
    oldDom = excessDomChildren[0] || oldDom;
  }
  if (tmp = options_default._diff) tmp(newVNode);
  outer: if (typeof newType == "function") {
    let oldCommitQueueLength = commitQueue.length;
    try {
      let c, oldProps, oldState, snapshot, newProps = newVNode.props;
      const isClassComponent = (tmp = newType.prototype) && tmp.render;
      tmp = newType.contextType;
      const provider = tmp && globalContext[tmp._id];
      const componentContext = tmp ? provider ? provider.props.value : tmp._defaultValue : globalContext;
      if (c = oldVNode._component) {
        newVNode._component = c;
        if (c._bits & COMPONENT_PENDING_ERROR) {
          c._bits |= COMPONENT_PROCESSING_EXCEPTION;
        }
      } else {
        if (isClassComponent) {
          newVNode._component = c = new newType(newProps, componentContext);
        } else {
          newVNode._component = c = new BaseComponent(
            newProps,
            componentContext
          );
          c.constructor = newType;
          c.render = doRender;
        }
        if (provider) provider.sub(c);
        if (!c.state) c.state = {};
        c._globalContext = globalContext;
        c._bits |= COMPONENT_DIRTY;
        c._renderCallbacks = [];
        c._stateCallbacks = [];
      }
      if (isClassComponent) {
        if (!c._nextState) c._nextState = c.state;
        if (newType.getDerivedStateFromProps) {
          if (c._nextState == c.state) {
            c._nextState = assign({}, c._nextState);
          }
          assign(
            c._nextState,
            newType.getDerivedStateFromProps(newProps, c._nextState)
          );
        }
      }
      oldProps = c.props;
      oldState = c.state;
      c._vnode = newVNode;
      if (!oldVNode._component) {
        if (isClassComponent && !newType.getDerivedStateFromProps && c.componentWillMount) {
          c.componentWillMount();
        }
        if (isClassComponent && c.componentDidMount) {
          c._renderCallbacks.push(c.componentDidMount);
        }
      } else {
        if (newProps !== oldProps && isClassComponent && !newType.getDerivedStateFromProps && c.componentWillReceiveProps) {
          c.componentWillReceiveProps(newProps, componentContext);
        }
        if (newVNode._original == oldVNode._original && !(c._bits & COMPONENT_DIRTY) || !(c._bits & COMPONENT_FORCE) && c.shouldComponentUpdate && c.shouldComponentUpdate(
          newProps,
          c._nextState,
          componentContext
        ) === false) {
          if (newVNode._original != oldVNode._original) {
            c.props = newProps;
            c.state = c._nextState;
            c._bits &= ~COMPONENT_DIRTY;
          }
          newVNode._dom = oldVNode._dom;
          newVNode._children = oldVNode._children;
          newVNode._children.some((vnode) => {
            if (vnode) vnode._parent = newVNode;
          });
          EMPTY_ARR.push.apply(c._renderCallbacks, c._stateCallbacks);
          c._stateCallbacks = [];
          if (c._renderCallbacks.length) {
            commitQueue.push(c);
          }
          oldDom = getDomSibling(oldVNode);
          break outer;
        }
        if (c.componentWillUpdate) {
          c.componentWillUpdate(newProps, c._nextState, componentContext);
        }
        if (isClassComponent && c.componentDidUpdate) {
          c._renderCallbacks.push(() => {
            c.componentDidUpdate(oldProps, oldState, snapshot);
          });
        }
      }
      c.context = componentContext;
      c.props = newProps;
      c._parentDom = parentDom;
      c._bits &= ~COMPONENT_FORCE;
      let renderHook = options_default._render, count = isClassComponent ? 25 : 0;
      do {
        c._bits &= ~COMPONENT_DIRTY;
        if (renderHook) renderHook(newVNode);
        tmp = c.render(c.props, c.state = c._nextState, c.context);
      } while (c._bits & COMPONENT_DIRTY && ++count < 25);
      if (isClassComponent) {
        EMPTY_ARR.push.apply(c._renderCallbacks, c._stateCallbacks);
        c._stateCallbacks = [];
      }
      c.state = c._nextState;
      if (c.getChildContext) {
        globalContext = assign({}, globalContext, c.getChildContext());
      }
      if (isClassComponent && oldVNode._component && c.getSnapshotBeforeUpdate) {
        snapshot = c.getSnapshotBeforeUpdate(oldProps, oldState);
      }
      const renderResult = tmp && tmp.type === Fragment && tmp.key == NULL ? tmp.props.children : tmp;
      if (newProps._parentDom) {
        tmp = oldDom;
        parentDom = newProps._parentDom;
        namespace = parentDom.namespaceURI;
        isHydrating = excessDomChildren = NULL;
        if (oldVNode.props && oldVNode.props._parentDom != parentDom) {
          oldVNode._children.some((child) => {
            if (child) unmount(child, child);
          });
          oldVNode._children = NULL;
        }
        oldDom = oldVNode._children ? getDomSibling(oldVNode, 0) : NULL;
      }
      oldDom = diffChildren(
        parentDom,
        isArray(renderResult) ? renderResult : [renderResult],
        newVNode,
        oldVNode,
        globalContext,
        namespace,
        excessDomChildren,
        commitQueue,
        oldDom,
        isHydrating,
        refQueue
      );
      if (newProps._parentDom) {
        newVNode._dom = NULL;
        oldDom = tmp;
      }
      newVNode._flags &= RESET_MODE;
      if (resumed) resumed.some(removeNode);
      if (c._renderCallbacks.length) {
        commitQueue.push(c);
      }
      if (c._bits & COMPONENT_PROCESSING_EXCEPTION) {
        c._bits &= ~(COMPONENT_PROCESSING_EXCEPTION | COMPONENT_PENDING_ERROR);
      }
    } catch (e) {
      commitQueue.length = oldCommitQueueLength;
      newVNode._original = NULL;
      if (isHydrating || excessDomChildren) {
        if (e && e.then) {
          let startMarker, end;
          newVNode._flags |= MODE_SUSPENDED | isHydrating;
          if (excessDomChildren) {
            let i2 = excessDomChildren.indexOf(oldDom || UNDEFINED), child;
            if (!~i2) i2 = excessDomChildren.length;
            while ((child = excessDomChildren[i2 - 1]) && child.nodeType == 8) {
              i2--;
            }
            for (; i2 < excessDomChildren.length; i2++) {
              if (child = excessDomChildren[i2]) {
                excessDomChildren[i2] = NULL;
                if (startMarker) {
                  if (child == end) break;
                } else if (child.nodeType != 8) {
                  break;
                } else if (child.data.startsWith("$s")) {
                  end = rangeEnd(startMarker = child);
                }
              }
            }
          }
          if (!startMarker) {
            while (oldDom && oldDom.nodeType == 8 && oldDom.nextSibling) {
              oldDom = oldDom.nextSibling;
            }
            startMarker = oldDom;
          }
          startMarker = newVNode._component._excess || (newVNode._component._excess = startMarker);
          if (tmp = rangeEnd(startMarker)) {
            newVNode._dom = startMarker;
            oldDom = tmp;
          } else newVNode._dom = oldDom;
          oldDom = oldDom && oldDom.nextSibling;
        } else if (excessDomChildren) {
          excessDomChildren.some(removeNode);
        }
      } else {
        newVNode._dom = oldVNode._dom;
      }
      if (!newVNode._children) {
        newVNode._children = oldVNode._children || [];
      }
      if (!(e && e.then)) markAsForce(newVNode);
      options_default._catchError(e, newVNode, oldVNode);
    }
  } else {
    oldDom = newVNode._dom = diffElementNodes(
      oldVNode._dom,
      newVNode,
      oldVNode,
      globalContext,
      namespace,
      excessDomChildren,
      commitQueue,
      isHydrating,
      refQueue,
      parentDom
    );
  }
  if (tmp = options_default.diffed) tmp(newVNode);
  return oldDom;
}
function rangeEnd(start, nodes) {
  if (start && start.nodeType == 8 && start.data.startsWith("$s")) {
    for (let depth = 1; start = start.nextSibling; ) {
      if (start.nodeType == 8) {
        if (start.data.startsWith("$s")) depth++;
        else if (start.data.startsWith("/$s") && !--depth) return start;
      }
      if (nodes) nodes.push(start);
    }
  }
}
function markAsForce(vnode) {
  if (vnode) {
    if (vnode._component) vnode._component._bits |= COMPONENT_FORCE;
    if (vnode._children) vnode._children.some(markAsForce);
  }
}
function commitRoot(commitQueue, root, refQueue) {
  for (let i2 = 0; i2 < refQueue.length; ) {
    applyRef(refQueue[i2++], refQueue[i2++], refQueue[i2++]);
  }
  if (options_default._commit) options_default._commit(root, commitQueue);
  commitQueue.some((c) => {
    try {
      commitQueue = c._renderCallbacks;
      c._renderCallbacks = [];
      commitQueue.some((cb) => {
        cb.call(c);
      });
    } catch (e) {
      options_default._catchError(e, c._vnode);
    }
  });
}
function diffElementNodes(dom, newVNode, oldVNode, globalContext, namespace, excessDomChildren, commitQueue, isHydrating, refQueue, parentDom) {
  let oldProps = oldVNode.props || EMPTY_OBJ;
  const newProps = newVNode.props;
  const nodeType = (
    /** @type {string} */
    newVNode.type
  );
  let i2;
  let newHtml;
  let oldHtml;
  let newChildren;
  let value;
  let inputValue;
  let checked;
  if (nodeType == "svg") namespace = SVG_NAMESPACE;
  else if (nodeType == "math") namespace = MATH_NAMESPACE;
  else if (!namespace) namespace = XHTML_NAMESPACE;
  if (excessDomChildren) {
    for (i2 = 0; i2 < excessDomChildren.length; i2++) {
      value = excessDomChildren[i2];
      if (value && (nodeType ? value.localName == nodeType : value.nodeType == 3)) {
        dom = value;
        excessDomChildren[i2] = NULL;
        break;
      }
    }
  }
  if (!dom) {
    const doc = parentDom.ownerDocument || document;
    if (!nodeType) {
      return doc.createTextNode(newProps);
    }
    dom = doc.createElementNS(
      namespace,
      nodeType,
      newProps.is ? newProps : parentDom
    );
    if (isHydrating) {
      if (options_default._hydrationMismatch)
        options_default._hydrationMismatch(newVNode, excessDomChildren);
      isHydrating = false;
    }
    excessDomChildren = NULL;
  }
  if (!nodeType) {
    if (oldProps !== newProps && (!isHydrating || dom.data != newProps)) {
      dom.data = newProps;
    }
  } else {
    parentDom = nodeType == "template" && dom.content || dom;
    excessDomChildren = nodeType == "textarea" && newProps.defaultValue != NULL ? NULL : excessDomChildren && slice.call(parentDom.childNodes);
    if (!isHydrating && excessDomChildren) {
      oldProps = {};
      for (i2 = 0; i2 < dom.attributes.length; i2++) {
        value = dom.attributes[i2];
        oldProps[value.name] = value.value;
      }
    }
    for (i2 in oldProps) {
      value = oldProps[i2];
      if (i2 == "dangerouslySetInnerHTML") {
        oldHtml = value;
      } else if (i2 != "children" && !(i2 in newProps) && !(i2 == "value" && "defaultValue" in newProps) && !(i2 == "checked" && "defaultChecked" in newProps)) {
        setProperty(dom, i2, NULL, value, namespace);
      }
    }
    for (i2 in newProps) {
      value = newProps[i2];
      if (i2 == "children") {
        newChildren = value;
      } else if (i2 == "dangerouslySetInnerHTML") {
        newHtml = value;
      } else if (i2 == "value") {
        inputValue = value;
      } else if (i2 == "checked") {
        checked = value;
      } else if ((!isHydrating || typeof value == "function") && oldProps[i2] !== value) {
        setProperty(dom, i2, value, oldProps[i2], namespace);
      }
    }
    if (newHtml) {
      if (!isHydrating && (!oldHtml || newHtml.__html != oldHtml.__html && newHtml.__html != dom.innerHTML)) {
        dom.innerHTML = newHtml.__html;
      }
      newVNode._children = [];
    } else {
      if (oldHtml) dom.textContent = "";
      if (nodeType == "foreignObject" || namespace == MATH_NAMESPACE && MATHML_TOKEN_ELEMENTS.test(nodeType)) {
        namespace = XHTML_NAMESPACE;
      }
      diffChildren(
        parentDom,
        isArray(newChildren) ? newChildren : [newChildren],
        newVNode,
        oldVNode,
        globalContext,
        namespace,
        excessDomChildren,
        commitQueue,
        excessDomChildren ? excessDomChildren[0] : oldVNode._children && getDomSibling(oldVNode, 0),
        isHydrating,
        refQueue
      );
      if (excessDomChildren) excessDomChildren.some(removeNode);
    }
    if (!isHydrating || nodeType == "textarea") {
      i2 = "value";
      if (nodeType == "progress" && inputValue == NULL) {
        dom.removeAttribute(i2);
      } else if (inputValue != UNDEFINED && // #2756 For the <progress>-element the initial value is 0,
      // despite the attribute not being present. When the attribute
      // is missing the progress bar is treated as indeterminate.
      // To fix that we'll always update it when it is 0 for progress elements
      (inputValue !== dom[i2] || nodeType == "progress" && !inputValue)) {
        setProperty(dom, i2, inputValue, oldProps[i2], namespace);
      }
      i2 = "checked";
      if (checked != UNDEFINED && checked != dom[i2]) {
        setProperty(dom, i2, checked, oldProps[i2], namespace);
      }
    }
  }
  return dom;
}
function applyRef(ref, value, vnode, owner) {
  try {
    if (typeof ref == "function") {
      if (value) value._refCleanup = ref(value) || 1;
      else if (owner && (owner = owner._component || owner._dom) && (value = owner._refCleanup)) {
        owner._refCleanup = NULL;
        if (typeof value == "function") value();
        else ref(NULL);
      }
    } else ref.current = value;
  } catch (e) {
    options_default._catchError(e, vnode);
  }
}
function unmount(vnode, parentVNode, skipRemove) {
  let r, end, nodes;
  if (options_default.unmount) options_default.unmount(vnode);
  if ((r = vnode.ref) && (!r.current || r.current == vnode._dom)) {
    applyRef(r, NULL, parentVNode, vnode);
  }
  if (r = vnode._component) {
    if (r.componentWillUnmount) {
      try {
        r.componentWillUnmount();
      } catch (e) {
        options_default._catchError(e, parentVNode);
      }
    }
    r._parentDom = r._globalContext = NULL;
  }
  if (r = vnode._children) {
    for (let i2 = 0; i2 < r.length; i2++) {
      if (r[i2]) {
        unmount(
          r[i2],
          parentVNode,
          // A portal's children live in another container, so a removed
          // host ancestor doesn't detach them; always remove them.
          typeof vnode.type == "function" ? skipRemove && !vnode.props._parentDom : true
        );
      }
    }
  }
  if (!skipRemove && (r = vnode._component) && (r = r._excess) && (end = rangeEnd(r, nodes = []))) {
    if (r == vnode._dom) nodes.some(removeNode);
    removeNode(end);
    removeNode(r);
  }
  if (!skipRemove) removeNode(vnode._dom);
  vnode._dom = vnode._component = vnode._parent = NULL;
}
function doRender(props, state, context) {
  return this.constructor(props, context);
}

// src/render.js
function render(vnode, parentDom) {
  if (options_default._root) options_default._root(vnode, parentDom);
  if (parentDom.nodeType == 9) {
    parentDom = parentDom.documentElement;
  }
  let isHydrating = vnode && vnode._flags & MODE_HYDRATE;
  let oldVNode = isHydrating ? NULL : parentDom._children;
  parentDom._children = createVNode(Fragment, { children: [vnode] });
  let commitQueue = [], refQueue = [];
  diff(
    parentDom,
    // Determine the new vnode tree and store it on the DOM element on
    // our custom `_children` property.
    parentDom._children,
    oldVNode || EMPTY_OBJ,
    EMPTY_OBJ,
    parentDom.namespaceURI,
    oldVNode ? NULL : parentDom.firstChild ? slice.call(parentDom.childNodes) : NULL,
    commitQueue,
    oldVNode ? oldVNode._dom : parentDom.firstChild,
    // @ts-expect-error we are doing a bit-wise operation so it's either 0 or true
    isHydrating,
    refQueue
  );
  commitRoot(commitQueue, parentDom._children, refQueue);
  parentDom._children.props.children = NULL;
}
function hydrate(vnode, parentDom) {
  if (vnode && typeof vnode == "object") {
    vnode._flags |= MODE_HYDRATE;
  }
  render(vnode, parentDom);
}

// src/create-context.js
var i = 0;
function createContext(defaultValue) {
  function Context(props) {
    if (!this.getChildContext) {
      let subs = /* @__PURE__ */ new Set();
      let ctx = {};
      ctx[Context._id] = this;
      this.getChildContext = () => ctx;
      this.shouldComponentUpdate = function(_props) {
        if (this.props.value != _props.value) {
          subs.forEach((c) => {
            c._bits |= COMPONENT_FORCE;
            enqueueRender(c);
          });
        }
      };
      this.sub = (c) => {
        subs.add(c);
        let old = c.componentWillUnmount;
        c.componentWillUnmount = () => {
          subs.delete(c);
          if (old) old.call(c);
        };
      };
    }
    return props.children;
  }
  Context._id = "__cC" + i++;
  Context._defaultValue = defaultValue;
  Context.Consumer = (props, contextValue) => {
    return props.children(contextValue);
  };
  Context.Provider = Context.Consumer.contextType = Context;
  return Context;
}

// src/create-portal.js
function Portal(props) {
  return props.children;
}
function createPortal(vnode, container) {
  return createVNode(Portal, { _parentDom: container, children: vnode });
}
export {
  BaseComponent as Component,
  Fragment,
  cloneElement,
  createContext,
  createElement,
  createPortal,
  createRef,
  createElement as h,
  hydrate,
  isValidElement,
  options_default as options,
  render,
  toChildArray
};
